/** Short words for what the arbitraries of this folder are put together from. */
import fc from 'fast-check';
import type { Json } from '../../support/oracle.ts';

export type Made = fc.Arbitrary<Json>;

export const pick = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
/** One of the words of a text, which single spaces part. */
export const pickWord = (words: string): fc.Arbitrary<string> => pick(...words.split(' '));
/** Each with its weight. */
export const weighted = <T>(...choices: [weight: number, arbitrary: fc.Arbitrary<T>][]): fc.Arbitrary<T> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
/** `{<name>: value}`. */
export const under = (names: fc.Arbitrary<string>, value: Made): Made =>
  fc.tuple(names, value).map(([name, of]): Json => ({ [name]: of }));
export const list = (of: Made, maxLength: number, minLength = 0): Made => fc.array(of, { minLength, maxLength });
export const map = (keys: fc.Arbitrary<string>, of: Made, maxKeys: number, minKeys = 0): fc.Arbitrary<{ [key: string]: Json }> =>
  fc.dictionary(keys, of, { minKeys, maxKeys, noNullPrototype: true });
/** Any of the parts may be missing. */
export const some = (parts: Record<string, Made>, ...requiredKeys: string[]): fc.Arbitrary<{ [key: string]: Json }> =>
  fc.record(parts, { requiredKeys });
/** A comma list of names. */
export const commaList = (names: fc.Arbitrary<string>, maxLength: number): Made =>
  fc.array(names, { minLength: 1, maxLength }).map((all) => all.join(','));
