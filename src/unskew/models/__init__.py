"""The models of the Calculator and of Karel: how they are trained, saved and scored."""
