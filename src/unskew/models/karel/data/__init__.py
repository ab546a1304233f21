"""What the synthesizer is trained on: tasks, and endless streams of them."""
