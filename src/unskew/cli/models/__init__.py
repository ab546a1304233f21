"""The commands for models. A command has a file for each model that it can train or score."""
