"""The Karel synthesizer: its network, its data, decoding, training and scoring."""
