"""Training and scoring the models that Karel's experiments share."""
