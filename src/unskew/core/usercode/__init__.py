"""Functions of users: how they are called, what they return, and what is said when they fail."""
