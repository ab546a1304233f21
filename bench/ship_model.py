"""Makes the model that the package ships: `python -m bench.ship_model RUN FILE`.

Weights are rounded to bfloat16, which halves the file; they are computed with in float32.
"""

import sys
from pathlib import Path

import torch

from unskew.models.checkpoint import load_checkpoint, save_checkpoint
from unskew.models.karel.train.run import MODEL


def main() -> None:
    run, file = map(Path, sys.argv[1:3])
    tensors, facts = load_checkpoint(run / MODEL)
    rounded = {name: tensor.to(torch.bfloat16) for name, tensor in tensors.items()}
    save_checkpoint(file, rounded, facts)
    print(f"{file}: {file.stat().st_size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
