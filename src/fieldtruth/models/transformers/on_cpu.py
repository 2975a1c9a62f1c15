"""Qwen3-VL's eyes in an order of arithmetic that a CPU is quick at: same weights, same logits.

Two things are slow there (tiny-vlm.md, section 3). The patches of a photo go through a 3-D
convolution whose kernel is as large as its input, which is a matrix product; and the attention of
each photo of a batch is worked out on its own, where photos of one size could share one. Together
they take two thirds of a training step of a small model. On a GPU neither matters.
"""

from types import MethodType
from typing import Any

from fieldtruth.pretrained import load_torch


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
    """Photos of one size as a batch; of several sizes, as the stock module does."""
    from transformers.models.qwen3_vl.modeling_qwen3_vl import apply_rotary_pos_emb_vision

    torch = load_torch()
    lengths = cu_seqlens.diff()
    photos, patches = len(lengths), int(lengths[0])
    plain = self.config._attn_implementation in ("eager", "sdpa")
    if photos < 2 or not plain or not bool((lengths == patches).all()):
        return type(self).forward(
            self, hidden_states, cu_seqlens, position_embeddings=position_embeddings, **others
        )
    query, key, value = (
        self.qkv(hidden_states).reshape(-1, 3, self.num_heads, self.head_dim).unbind(1)
    )
    query, key = apply_rotary_pos_emb_vision(query, key, *position_embeddings)
    query, key, value = (
        each.reshape(photos, patches, self.num_heads, -1).transpose(1, 2)
        for each in (query, key, value)
    )
    if torch.is_grad_enabled():  # written out: the fused one is slow to go back through
        scores = query @ key.transpose(2, 3) * self.scaling
        seen = torch.softmax(scores, dim=-1, dtype=torch.float32).to(query.dtype) @ value
    else:
        fused = torch.nn.functional.scaled_dot_product_attention
        seen = fused(query, key, value, scale=self.scaling)
    return self.proj(seen.transpose(1, 2).reshape(photos * patches, -1))
