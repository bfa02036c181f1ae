/** Short names for the arbitraries that this folder combines. */
import fc from 'fast-check';
import type { Json } from '../../support/oracle.ts';

export type Made = fc.Arbitrary<Json>;

export const pick = <T>(...values: T[]): fc.Arbitrary<T> => fc.constantFrom(...values);
/** Draws one of the words of a text, which single spaces separate. */
export const pickWord = (words: string): fc.Arbitrary<string> => pick(...words.split(' '));
/** Draws one of the choices, each with its weight. */
export const weighted = <T>(...choices: [weight: number, arbitrary: fc.Arbitrary<T>][]): fc.Arbitrary<T> =>
  fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
/** Draws `{<name>: value}`. */
export const under = (names: fc.Arbitrary<string>, value: Made): Made =>
  fc.tuple(names, value).map(([name, of]): Json => ({ [name]: of }));
export const list = (of: Made, maxLength: number, minLength = 0): Made => fc.array(of, { minLength, maxLength });
export const map = (keys: fc.Arbitrary<string>, of: Made, maxKeys: number, minKeys = 0): fc.Arbitrary<{ [key: string]: Json }> =>
  fc.dictionary(keys, of, { minKeys, maxKeys, noNullPrototype: true });
/** Draws an object in which any of the parts may be missing. */
export const some = (parts: Record<string, Made>, ...requiredKeys: string[]): fc.Arbitrary<{ [key: string]: Json }> =>
  fc.record(parts, { requiredKeys });
/** Draws a comma-separated list of names. */
export const commaList = (names: fc.Arbitrary<string>, maxLength: number): Made =>
  fc.array(names, { minLength: 1, maxLength }).map((all) => all.join(','));
