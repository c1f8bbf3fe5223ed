"""XLM's own code (Conneau and Lample 2019) with the weights of a model of ours: hidden states and loss of a dumped step, and
translations, greedy and by beam search, word by word.

    xlm_code.py XLM_DIRECTORY STEP.h5 CHECKPOINT.h5 CORPUS.h5 TEXT FROM TO OURS BEAM PENALTY EARLY

XLM_DIRECTORY  of github.com/facebookresearch/XLM
STEP.h5        of xlm_train --dump-step, with a stream `text` with noise and an objective `denoise`; -: leave it out
TEXT           gets the first 200 sentences of the corpus's training text in FROM; when OURS is -, nothing else is done
OURS           what xlm_translate --scores made of TEXT with at most 59 tokens each
EARLY          early: with early stopping

In XLM's vocabularies <s> and </s> are one token; here the decoder's first input is the embedding of our <s>.
SPDX-License-Identifier: GPL-3.0-or-later"""
import sys
from types import SimpleNamespace

import h5py
import torch
from torch import nn

from check_dump import parameters_of, read_text

BOS, PAD, EOS = 0, 1, 2  # of vocabularies of our own
SENTENCES = 200


def names_of(layer, decoder):
    """Parameters of a layer: ours -> theirs."""
    ours, theirs = f"layer.{layer}/", {}
    attentions = [("attention", "attentions", "layer_norm1")]
    if decoder:
        attentions.append(("memory_attention", "encoder_attn", "layer_norm15"))
    for own, other, norm in attentions:
        for part, lin in (("query", "q_lin"), ("key", "k_lin"), ("value", "v_lin"), ("output", "out_lin")):
            theirs[ours + f"{own}/{part}"] = f"{other}.{layer}.{lin}"
        theirs[ours + f"{own}/layer_norm"] = f"{norm}.{layer}"
    theirs[ours + "feed_forward/intermediate"] = f"ffns.{layer}.lin1"
    theirs[ours + "feed_forward/output"] = f"ffns.{layer}.lin2"
    theirs[ours + "feed_forward/layer_norm"] = f"layer_norm2.{layer}"
    return theirs


class FirstInput(nn.Module):
    """An embedding in which </s>, which XLM begins with, is our <s>."""

    def __init__(self, weight):
        super().__init__()
        self.weight = weight

    def forward(self, ids):
        return nn.functional.embedding(torch.where(ids == EOS, torch.full_like(ids, BOS), ids), self.weight)


def build(code, attributes, parameters, decoder):
    n_words = len(parameters["embeddings/word/weight"])
    languages = len(parameters["embeddings/language/weight"])
    params = SimpleNamespace(
        n_langs=languages, n_words=n_words, eos_index=EOS, pad_index=PAD, id2lang={i: str(i) for i in range(languages)},
        lang2id={str(i): i for i in range(languages)}, emb_dim=int(attributes["hidden_size"]),
        n_heads=int(attributes["attention_heads"]), n_layers=int(attributes["decoder_layers" if decoder else "layers"]), dropout=0,
        attention_dropout=0, sinusoidal_embeddings=False, gelu_activation=True, asm=False, share_inout_emb=True)
    model = code.TransformerModel(params, range(n_words), is_encoder=not decoder, with_output=True).double()
    names = {"embeddings/word": "embeddings", "embeddings/position": "position_embeddings",
             "embeddings/language": "lang_embeddings", "embeddings/layer_norm": "layer_norm_emb", "lm_head": "pred_layer.proj"}
    stack = "decoder/" if decoder else "encoder/"
    for layer in range(params.n_layers):
        names.update({stack + k: v for k, v in names_of(layer, decoder).items()})
    state, used = model.state_dict(), set()
    for own, other in names.items():
        for part in ("weight", "bias"):
            if f"{own}/{part}" in parameters:
                rows = parameters[f"{own}/{part}"]
                state[f"{other}.{part}"][:len(rows)] = rows.view(state[f"{other}.{part}"][:len(rows)].shape)
                used.add(f"{other}.{part}")
    missing = set(state) - used - {"pred_layer.proj.weight"}  # the word embedding
    assert not missing, missing
    state["pred_layer.proj.weight"] = state["embeddings.weight"]
    model.load_state_dict(state)
    for module in [m for m in model.modules() if isinstance(m, nn.LayerNorm)]:
        module.eps = float(attributes["layer_norm_epsilon"])
    if decoder:
        model.embeddings = FirstInput(model.embeddings.weight)
    return model.eval()


def padded(texts):
    """[length x sentences] ids, and lengths."""
    lengths = torch.tensor([len(t) for t in texts])
    ids = torch.full((int(lengths.max()), len(texts)), PAD)
    for i, t in enumerate(texts):
        ids[:len(t), i] = torch.as_tensor(t)
    return ids, lengths


def sequences(b, key):
    return [b[key][first:end] for first, end in zip(b["offsets"][:-1].tolist(), b["offsets"][1:].tolist())]


def check_step(path, encoder, decoder):
    """Hidden states of the encoder and the loss of denoising, with positions that begin at 0 in each sentence."""
    file = h5py.File(path, "r")
    batch = read_text(file["streams"]["text"]["batch"])
    target = batch["original_text"]
    x, lengths = padded(sequences(batch, "ids"))
    langs, _ = padded(sequences(batch, "languages"))
    langs = langs.clamp(max=encoder.n_langs - 1)
    states = encoder("fwd", x=x, lengths=lengths, langs=langs, causal=False).transpose(0, 1)
    theirs = torch.cat([h[:n] for h, n in zip(states, lengths.tolist())])
    top = max(file["streams"]["text"]["hidden"], key=int)
    ours = torch.tensor(file["streams"]["text"]["hidden"][top][...]).double()
    y, to = padded(sequences(target, "ids"))
    to_langs, _ = padded(sequences(target, "languages"))
    h = decoder("fwd", x=y[:-1], lengths=to - 1, langs=to_langs[:-1].clamp(max=encoder.n_langs - 1), causal=True, src_enc=states,
                src_len=lengths)
    predicted = torch.arange(len(y) - 1)[:, None] < to[None] - 1
    _, loss = decoder("predict", tensor=h, pred_mask=predicted, y=y[1:].masked_select(predicted), get_scores=False)
    stated = float(file["objectives"]["denoise"]["loss"][...])
    return (ours - theirs).abs().max().item() / theirs.abs().max().item(), abs(stated - loss.item()) / abs(stated)


def spell(words, ids):
    return " ".join(words[i] for i in ids).replace("@@ ", "")


def main(directory, step, checkpoint, corpus, text, source, target, ours, beam, penalty, early):
    sys.path.insert(0, directory)
    import xlm.model.transformer as code
    corpus, file = h5py.File(corpus, "r"), h5py.File(checkpoint, "r")
    words = [w.decode() for w in corpus["vocabulary"]["words"][...]]
    names = [n.decode() for n in corpus["languages"][...]]
    tokens, offsets = (corpus["train"]["text"][source][k][...].tolist() for k in ("tokens", "offsets"))
    sentences = [tokens[offsets[i]:offsets[i + 1]] for i in range(SENTENCES)]
    if ours == "-":
        with open(text, "w", encoding="utf-8") as out:
            out.writelines(spell(words, s) + "\n" for s in sentences)
        return 0
    torch.set_grad_enabled(False)
    def stacks(file, group):
        parameters = {n: torch.tensor(d[...]).double() for n, d in parameters_of(file[group])}
        return [build(code, file["model"].attrs, parameters, decoder) for decoder in (False, True)]
    if step != "-":
        states, loss = check_step(step, *stacks(h5py.File(step, "r"), "parameters"))
        print(f"hidden states, relative\t{states:.1e}\t<= 1e-5\nloss, relative\t{loss:.1e}\t<= 1e-5")
    encoder, decoder = stacks(file, "model")
    x, lengths = padded([[BOS] + s + [EOS] for s in sentences])
    memory = encoder("fwd", x=x, lengths=lengths, langs=torch.full_like(x, names.index(source)), causal=False).transpose(0, 1)
    into = names.index(target)
    if int(beam) == 1:
        made, _ = decoder.generate(memory, lengths, into, max_len=61)
    else:
        made, _ = decoder.generate_beam(memory, lengths, into, int(beam), float(penalty), early == "early", max_len=61)
    theirs = [[i for i in made[:, s].tolist() if i not in (EOS, PAD)] for s in range(SENTENCES)]
    same = 0
    with open(ours, encoding="utf-8") as lines:
        for line, ids in zip(lines, theirs):
            same += line.rstrip("\n").split("\t")[1] == spell(words, ids)
    print(f"beam {beam}, length penalty {penalty}, {early} stopping: other translations of {SENTENCES}\t{SENTENCES - same}\t<= 0")
    return same != SENTENCES


if __name__ == "__main__":
    if len(sys.argv) != 12:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
