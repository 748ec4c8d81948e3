"""PyTorch modules of ten kinds, small and untrained. Importing this needs no torch."""

from __future__ import annotations

from typing import Any

MODULES = (
    *("separable", "group_norm", "lstm", "bidirectional_gru", "u_net", "dilated", "transformer", "causal", "mixture"),
    "embedding",
)


def made(name: str) -> tuple[Any, tuple[Any, ...]]:
    """A module, and what it is called with."""
    import torch

    torch.manual_seed(0)
    module: Any = globals()[f"_{name}"]()
    shapes = {
        "separable": (1, 1, 16, 16), "group_norm": (1, 3, 8, 8), "lstm": (1, 10, 6), "bidirectional_gru": (1, 7, 6),
        "u_net": (1, 1, 16, 16), "dilated": (1, 4, 20), "transformer": (1, 6, 16), "causal": (1, 5, 16),
        "mixture": (1, 8),
    }  # fmt: skip
    if name == "embedding":
        return module.eval(), (torch.arange(6).reshape(1, 6),)
    return module.eval(), (torch.randn(*shapes[name]),)


def _module(parts: dict[str, Any], forward: Any) -> Any:
    """A module of these parts, whose `forward(self, x)` is a function."""
    import torch

    class Made(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            for name, part in parts.items():
                setattr(self, name, part)

        def forward(self, x: Any) -> Any:
            return forward(self, x)

    return Made()


def _separable() -> Any:
    from torch import nn

    layers = [nn.Conv2d(1, 8, 3, stride=2, padding=1)]
    for width in (8, 16):
        layers += [nn.Conv2d(width, width, 3, padding=1, groups=width), nn.BatchNorm2d(width), nn.ReLU()]
        layers += [nn.Conv2d(width, 2 * width, 1), nn.BatchNorm2d(2 * width), nn.ReLU6()]
    parts = {"features": nn.Sequential(*layers), "classes": nn.Linear(32, 5)}
    return _module(parts, lambda m, x: m.classes(m.features(x).mean((2, 3))))


def _group_norm() -> Any:
    from torch import nn

    branch = (nn.Conv2d(8, 8, 3, padding=1), nn.GroupNorm(4, 8), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1))
    parts = {"first": nn.Conv2d(3, 8, 1), "branch": nn.Sequential(*branch, nn.GroupNorm(2, 8)), "end": nn.SiLU()}

    def forward(m: Any, x: Any) -> Any:
        x = m.first(x)
        return m.end(x + m.branch(x))

    return _module(parts, forward)


def _lstm() -> Any:
    from torch import nn

    parts = {"lstm": nn.LSTM(6, 12, 2, batch_first=True), "out": nn.Linear(12, 3)}
    return _module(parts, lambda m, x: m.out(m.lstm(x)[0][:, -1]))


def _bidirectional_gru() -> Any:
    from torch import nn

    parts = {"gru": nn.GRU(6, 10, batch_first=True, bidirectional=True), "out": nn.Linear(20, 3)}
    return _module(parts, lambda m, x: m.out(m.gru(x)[0]))


def _u_net() -> Any:
    import torch
    from torch import nn

    def block(inner: int, outer: int) -> Any:
        return nn.Sequential(nn.Conv2d(inner, outer, 3, padding=1), nn.ReLU())

    parts = {
        "down": block(1, 6), "bottom": block(6, 12), "pool": nn.MaxPool2d(2), "up": block(12, 6),
        "larger": nn.ConvTranspose2d(12, 6, 2, stride=2), "out": nn.Conv2d(6, 2, 1),
    }  # fmt: skip

    def forward(m: Any, x: Any) -> Any:
        kept = m.down(x)
        return m.out(m.up(torch.cat([kept, m.larger(m.bottom(m.pool(kept)))], 1)))

    return _module(parts, forward)


def _dilated() -> Any:
    from torch import nn

    layers = []
    for inner, dilation in ((4, 1), (8, 2), (8, 4)):
        layers += [nn.ConstantPad1d((2 * dilation, 0), 0.0), nn.Conv1d(inner, 8, 3, dilation=dilation), nn.ReLU()]
    return _module({"body": nn.Sequential(*layers), "out": nn.Linear(8, 4)}, lambda m, x: m.out(m.body(x)[:, :, -1]))


def _transformer() -> Any:
    from torch import nn

    layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, dropout=0.0)
    return _module({"layer": layer, "out": nn.Linear(16, 4)}, lambda m, x: m.out(m.layer(x).mean(1)))


def _causal() -> Any:
    from torch import nn
    from torch.nn import functional

    def forward(m: Any, x: Any) -> Any:
        batch, length, width = x.shape
        q, k, v = m.queries(x).view(batch, length, 3, 2, width // 2).permute(2, 0, 3, 1, 4)
        y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return m.out(y.transpose(1, 2).reshape(batch, length, width))

    return _module({"queries": nn.Linear(16, 48), "out": nn.Linear(16, 16)}, forward)


def _mixture() -> Any:
    import torch
    from torch import nn

    experts = [nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 4)) for _ in range(3)]

    def forward(m: Any, x: Any) -> Any:
        weights = m.gate(x).softmax(-1)
        return (torch.stack([expert(x) for expert in m.experts], 1) * weights[..., None]).sum(1)

    return _module({"gate": nn.Linear(8, 3), "experts": nn.ModuleList(experts)}, forward)


def _embedding() -> Any:
    from torch import nn

    parts = {"words": nn.Embedding(50, 16), "out": nn.Linear(16, 3)}
    return _module(parts, lambda m, x: m.out(m.words(x).mean(1)))
