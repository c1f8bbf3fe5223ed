#!/usr/bin/python3
"""xlm-mpi: words translated and similarities measured by MUSE's own code. SPDX-License-Identifier: GPL-3.0-or-later

muse.py MUSE SOURCE.vec TARGET.vec LEARN TEST SIMILARITY

MUSE is the directory of github.com/facebookresearch/MUSE; needs Debian's python3-torch and python3-scipy, and python3-faiss to be
as fast as it can. Reads both files of vectors, measures the translations of TEST among them by cosine and by CSLS, learns the map of
LEARN, measures again, and correlates the scores of SIMILARITY with the cosines of the source's words: what
`xlm_embed procrustes --refine 0` and `xlm_embed similarity --pairs` do. Writes lines `before|after cosine|CSLS P@1 P@5 P@10`, in
per cent, and `spearman RHO`."""
import sys
import types
import warnings

directory, source, target, learn, test, similarity = sys.argv[1:]
sys.path.insert(0, directory)
warnings.simplefilter("ignore")
import torch  # noqa: E402
from src.evaluation.word_translation import get_word_translation_accuracy, load_dictionary  # noqa: E402
from src.evaluation.wordsim import get_spearman_rho  # noqa: E402
from src.trainer import Trainer  # noqa: E402
from src.utils import load_embeddings, normalize_embeddings  # noqa: E402


def embedding(vectors):
    return types.SimpleNamespace(weight=types.SimpleNamespace(data=vectors))


def main():
    with open(source, encoding="utf-8") as file:
        width = int(file.readline().split()[1])
    params = types.SimpleNamespace(src_lang="s", tgt_lang="t", src_emb=source, tgt_emb=target, emb_dim=width, max_vocab=-1,
                                   cuda=False)
    words, vectors = zip(*(load_embeddings(params, side) for side in (True, False)))
    for side in vectors:
        normalize_embeddings(side, "renorm")

    def measure(when, mapped):
        for name, method in (("cosine", "nn"), ("CSLS", "csls_knn_10")):
            shares = get_word_translation_accuracy("s", words[0].word2id, mapped, "t", words[1].word2id, vectors[1], method, test)
            print(when, name, *(f"{share:.2f}" for _, share in shares))

    measure("before", vectors[0])
    trainer = types.SimpleNamespace(src_emb=embedding(vectors[0]), tgt_emb=embedding(vectors[1]),
                                    mapping=embedding(torch.eye(width)),
                                    dico=load_dictionary(learn, words[0].word2id, words[1].word2id))
    Trainer.procrustes(trainer)
    measure("after", vectors[0].mm(trainer.mapping.weight.data.t()))
    rho, _, _ = get_spearman_rho(words[0].word2id, vectors[0].numpy(), similarity, True)
    print("spearman", f"{rho:.4f}")


main()
