"""Qwen3-VL's eyes in an order of arithmetic that a CPU is quick at: same weights, same logits.

Two things are slow there (tiny-vlm.md, section 3). The patches of a photo go through a 3-D
convolution whose kernel is as large as its input, which is a matrix product; and the attention of
each photo of a batch is worked out on its own, where photos of one size could share one. Together
they take two thirds of a training step of a small model. On a GPU neither matters.
"""

from types import MethodType
from typing import Any

from fieldtruth.pretrained import load_torch

_PADDED = 1.25  # patches with padding to those without, up to which it pays


def patch(model: Any) -> int:
    """Change the forward of each such module of a model; returns of how many.

    None where it is of another kind. Logits stay equal to about 2e-6 in float32.
    """
    from transformers.models.qwen3_vl import modeling_qwen3_vl as stock

    load_torch()
    changed = 0
    for module in model.modules():
        if type(module) is stock.Qwen3VLVisionPatchEmbed:
            module.forward = MethodType(_embedded, module)
        elif type(module) is stock.Qwen3VLVisionAttention:
            module.forward = MethodType(_attended, module)
        else:
            continue
        changed += 1
    return changed


def _embedded(self: Any, hidden_states: Any) -> Any:
    """(patches, channels * 2 * side * side) -> (patches, width): one matrix product."""
    kernel = self.proj.weight
    flat = hidden_states.reshape(-1, kernel[0].numel()).to(kernel.dtype)
    return load_torch().nn.functional.linear(flat, kernel.flatten(1), self.proj.bias)


def _attended(
    self: Any, hidden_states: Any, cu_seqlens: Any, position_embeddings: Any = None, **others: Any
) -> Any:
    """All photos as one batch, padded to the largest; as the stock module does where one is small.

    That is: where the padding would be more work than it saves.
    """
    from transformers.models.qwen3_vl.modeling_qwen3_vl import apply_rotary_pos_emb_vision

    torch = load_torch()
    lengths = cu_seqlens.diff()
    photos, longest = len(lengths), int(lengths.max())
    plain = self.config._attn_implementation in ("eager", "sdpa")
    if photos < 2 or not plain or photos * longest > _PADDED * len(hidden_states):
        return type(self).forward(
            self, hidden_states, cu_seqlens, position_embeddings=position_embeddings, **others
        )
    query, key, value = (
        self.qkv(hidden_states).reshape(-1, 3, self.num_heads, self.head_dim).unbind(1)
    )
    query, key = apply_rotary_pos_emb_vision(query, key, *position_embeddings)
    # (photos, patches of the largest)
    there = torch.arange(longest, device=lengths.device) < lengths[:, None]
    same = bool(there.all())
    query, key, value = (
        (each.reshape(photos, longest, self.num_heads, -1) if same else _spread(each, there))
        .transpose(1, 2)
        for each in (query, key, value)
    )  # fmt: skip
    seen = None if same else there[:, None, None]
    if torch.is_grad_enabled():  # written out: the fused one is slow to go back through
        scores = query @ key.transpose(2, 3) * self.scaling
        if seen is not None:
            scores = scores.masked_fill(~seen, torch.finfo(scores.dtype).min)
        made = torch.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype) @ value
    else:
        fused = torch.nn.functional.scaled_dot_product_attention
        made = fused(query, key, value, attn_mask=seen, scale=self.scaling)
    made = made.transpose(1, 2).reshape(photos, longest, -1)
    return self.proj(made.flatten(0, 1) if same else made[there])


def _spread(flat: Any, there: Any) -> Any:
    """(patches of all photos, heads, width) -> (photos, patches of the largest, heads, width)."""
    padded = flat.new_zeros((*there.shape, *flat.shape[1:]))
    padded[there] = flat
    return padded
