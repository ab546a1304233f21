"""The paper's Karel experiments (sections 4 and 5), and two that go further.

Each module is one experiment: the cells of its tables, with the paper's numbers. They share the
lab (``lab``), which trains and scores each model once.
"""
