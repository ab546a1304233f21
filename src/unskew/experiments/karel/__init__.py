"""The paper's Karel experiments (sections 4 and 5), and two that go further.

``experiments`` has the tables of each, with the paper's numbers. They share the lab (``lab``),
which trains and scores each model once.
"""
