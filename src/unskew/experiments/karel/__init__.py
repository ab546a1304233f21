"""The paper's Karel experiments (sections 4 and 5), and two that go further.

``scales`` says how much of everything, ``trainings`` names the models, ``testing`` the test sets,
``lab`` trains and scores what is not there yet, ``plan`` turns scores into tables. The other
modules are the experiments, one each: which cells, and the paper's number for each.
"""
