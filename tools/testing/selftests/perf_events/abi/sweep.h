/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The sweeps of abi-attr.c, which abi-driver.c runs over other bits.
 */
#ifndef ABI_SWEEP_H
#define ABI_SWEEP_H

void sweep_bits(u64 bits, bool apart);
void sweep_bit_pairs(u64 first, u64 second);
void sweep_words(const unsigned char *words, unsigned int n);
void sweep_samples(u64 samples);
void sweep_sample_pairs(u64 first, u64 second);

#endif
