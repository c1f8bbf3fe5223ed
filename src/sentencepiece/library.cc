// xlm-mpi: what is used of the library SentencePiece, in C. SPDX-License-Identifier: GPL-3.0-or-later
#include "sentencepiece/library.h"

#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <exception>
#include <string>
#include <unordered_map>
#include <vector>

struct xlm_sentencepiece {
    sentencepiece::SentencePieceProcessor processor;
};

extern "C" xlm_sentencepiece *xlm_sentencepiece_new(const char *bytes, size_t size, char **message)
{
    xlm_sentencepiece *model = new xlm_sentencepiece;
    try {
        const auto status = model->processor.LoadFromSerializedProto(absl::string_view(bytes, size));
        if (status.ok())
            return model;
        *message = g_strdup(status.ToString().c_str());
    } catch (const std::exception &failure) {
        *message = g_strdup(failure.what());
    }
    delete model;
    return nullptr;
}

extern "C" void xlm_sentencepiece_free(xlm_sentencepiece *model) { delete model; }

namespace {
// The library's answer, kept from line to line: so its pieces are written where those of the line before were, without taking
// memory for each of them. A line of very many pieces is not kept.
class Answer {
  public:
    sentencepiece::ImmutableSentencePieceText &clear()
    {
        if (text_.pieces_size() > MOST_PIECES)
            text_ = sentencepiece::ImmutableSentencePieceText();
        return text_;
    }

  private:
    static constexpr size_t MOST_PIECES = 1 << 16;
    sentencepiece::ImmutableSentencePieceText text_;
};
} // namespace

extern "C" void xlm_sentencepiece_encode(const xlm_sentencepiece *model, const char *line, size_t size, GString *out,
                                         GString *normal, GArray *ends)
{
    thread_local Answer answer;
    auto &text = answer.clear();
    if (!model->processor.Encode(absl::string_view(line, size), text.mutable_proto()).ok())
        return;
    const int n = static_cast<int>(text.pieces_size());
    for (int i = 0; i < n; i++) {
        const auto entry = text.pieces(i);
        const std::string &piece = entry.piece();
        if (i > 0)
            g_string_append_c(out, ' ');
        g_string_append_len(out, piece.data(), static_cast<gssize>(piece.size()));
        if (normal == nullptr)
            continue;
        if (model->processor.IsByte(static_cast<int>(entry.id()))) // "<0xE2>"
            g_string_append_c(normal, static_cast<char>(std::stoi(piece.substr(3, 2), nullptr, 16)));
        else
            g_string_append_len(normal, piece.data(), static_cast<gssize>(piece.size()));
        const auto end = static_cast<uint32_t>(normal->len);
        g_array_append_val(ends, end);
    }
}

namespace {
class Lines : public sentencepiece::SentenceIterator {
  public:
    Lines(char *const *lines, size_t count) : lines_(lines), count_(count) { take(); }
    bool done() const override { return at_ >= count_; }
    void Next() override
    {
        at_++;
        take();
    }
    const std::string &value() const override { return line_; }
    sentencepiece::util::Status status() const override { return sentencepiece::util::Status(); }

  private:
    void take()
    {
        if (at_ < count_)
            line_ = lines_[at_];
    }
    char *const *lines_;
    size_t count_, at_ = 0;
    std::string line_;
};
} // namespace

extern "C" bool xlm_sentencepiece_learn(char *const *lines, size_t count, int64_t n, GString *model, char **message)
{
    // Sums are added up thread by thread, so their number is part of the result; how many cores there are is not.
    const std::unordered_map<std::string, std::string> settings = {
        {"model_type", "unigram"},      {"vocab_size", std::to_string(n + 1)}, {"hard_vocab_limit", "false"},
        {"input_format", "tsv"},        {"character_coverage", "0.9995"},      {"num_threads", "4"},
        {"max_sentence_length", "1000000000"},                                 {"unk_id", "0"},
        {"bos_id", "-1"},               {"eos_id", "-1"},                      {"pad_id", "-1"},
        {"minloglevel", "2"}};
    try {
        Lines iterator(lines, count);
        std::string bytes;
        const auto status = sentencepiece::SentencePieceTrainer::Train(settings, &iterator, &bytes);
        if (status.ok()) {
            g_string_append_len(model, bytes.data(), static_cast<gssize>(bytes.size()));
            return true;
        }
        *message = g_strdup(status.ToString().c_str());
    } catch (const std::exception &failure) {
        *message = g_strdup(failure.what());
    }
    return false;
}
