"""The Calculator's model: its network, how it is trained and scored."""
