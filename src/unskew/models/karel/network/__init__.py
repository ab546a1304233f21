"""The network of the synthesizer and the kernels that it runs on."""
