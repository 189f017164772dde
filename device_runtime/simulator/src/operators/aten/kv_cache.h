#pragma once

#include "arguments.h"

// Paged caches: blocks of rows, a row a token, addressed by slots (block * rows of a block + row). The
// features of a row lie together (blocks, rows, heads, features) or in pieces of a fixed size (blocks,
// pieces, rows, piece).
namespace simulator::operators {

int64_t BlockRows(Tensor cache, bool inPieces);

// A view of the cache as blocks, rows, features; the features may be pieces.
at::Tensor TokensOfCache(Tensor cache, bool inPieces);

// Slots below 0 belong to tokens that are not kept.
void WriteTokens(Tensor cache, Tensor tokens, Tensor slots, bool inPieces);

at::Tensor ReadTokens(Tensor cache, Tensor slots, bool inPieces);

// The slots of the tokens of all sequences, from the blocks of each and its length, or with `ends` the end of
// it.
at::Tensor SlotsOfSequences(Tensor blockTables, Tensor lengths, bool ends, int64_t blockRows);

}  // namespace simulator::operators
