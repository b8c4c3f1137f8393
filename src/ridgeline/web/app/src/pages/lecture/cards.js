// The questions of the 27 flashcards in our words; the problems ask in the catalogue's own.
export const QUESTIONS = {
  K1: 'How long is a forward pass, given what computing and reading take?',
  K2: 'How long does the arithmetic of one step take, attention left out?',
  K3: 'How long does a step read weights, and how long caches?',
  K4: 'How much arithmetic can a modern chip do per byte it reads, and what is the ratio without a unit?',
  K5: 'What is the least efficient batch of a model that activates 32 of 256 experts?',
  K6: 'How long does one sweep over the memory take?',
  K7: 'Training costs how many FLOP per parameter and token?',
  K8: 'What do pre-training, reinforcement learning and inference cost?',
  K9: 'If all three costs are equal, how do the token counts compare?',
  K10: 'How many tokens does a model serve before it is replaced?',
  K11: 'By what factor is such a model trained beyond 20 tokens per parameter?',
  K12: 'A price rises at 200k tokens. What cache per token does that imply, for a large batch?',
  K13: 'Output costs 3 to 5 times input. What does it say about decoding?',
  K14: 'How much cheaper is a cache hit than an uncached token?',
  K15: 'How does latency move with batch, left and right of the kink?',
  K16: 'How does cost move with context past the crossover, and where does the dearer tier stop covering it?',
  K17: 'What sets the floor of latency, and how high is it?',
  K18: 'What does a larger batch not make cheaper?',
  K19: 'What happens when one MoE layer is spread over several racks?',
  K20: 'What share of a training pipeline idles?',
  K21: 'Why may training batches not overlap, and what would it save?',
  K22: 'What do more pipeline stages do to the memory of a device?',
  K23: 'Why is pipelining unwise, beyond the arithmetic?',
  K24: 'How far from the optimum is the point where a falling and a rising cost are equal?',
  K25: 'Why is a context beyond 200k dearer, and by how much at 400k?',
  K26: 'After eight rounds, what share of output bits does one flipped input bit change?',
  K27: 'Ciphers and nets have one shape and opposite aims. How far does a small change spread?',
}

/** Labels that would give the answer away, or say too little alone. */
export const LABELS = {
  'K5.0': 'batch', 'K10.0': 'tokens served', 'K10.1': 'the same, unrounded', 'K14.0': 'ratio of prices',
  'K19.0': 'share of the tokens that crosses between two racks', 'K19.1': 'slowdown over two racks', 'K19.2': 'over three', 'K19.3': 'over four', 'K19.4': 'over very many',
  'K21.1': 'without the barrier, very many micro-batches',
  'P1.1': 'BF16', 'P7.0': 'slowdown, ρ 8', 'P7.1': 'slowdown, ρ 18', 'P8.0': 'layers per stage', 'P9.0': 'idle share', 'P11.0': 'α', 'P14.0': 'drain time', 'P15.0': 'reads',
}
