"""The paper's Karel experiments (sections 4 and 5), and two that go further."""
