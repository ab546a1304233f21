"""The models that are trained on the domains, and how they are trained, kept and scored."""
