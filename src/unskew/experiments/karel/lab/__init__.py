"""The lab trains and scores the models that Karel's experiments share.

``scales`` has the sizes, ``trainings`` the models by name, ``test_sets`` the test sets. ``lab``
trains and scores what is missing. ``tables`` says which numbers a table needs, and takes them from
the scores. ``plan`` makes an experiment of tables.
"""
