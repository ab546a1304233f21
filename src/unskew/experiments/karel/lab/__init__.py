"""The lab trains and scores the models that Karel's experiments share, each of them once."""
