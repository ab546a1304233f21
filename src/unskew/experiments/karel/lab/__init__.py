"""The lab trains and scores the models that Karel's experiments share.

``scales`` has the sizes, ``trainings`` the models by name, ``test_sets`` the test sets. ``lab``
trains and scores what is missing. ``plan`` says which numbers an experiment needs, and ``numbers``
takes them from the scores.
"""
