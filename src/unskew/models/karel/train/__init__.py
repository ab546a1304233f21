"""How the synthesizer is trained, and the folder of a run."""
