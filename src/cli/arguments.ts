import { InvalidArgumentError } from 'commander';

/** Reads a whole number. @throws InvalidArgumentError */
export function upTo(most: number): (text: string) => number {
  return (text) => {
    if (/^\d{1,16}$/.test(text) && Number(text) <= most) return Number(text);
    throw new InvalidArgumentError(`It must be a whole number up to ${most}.`);
  };
}

/** Factors of 1000 and of 1024, by the first letter of a unit. */
const powers = ['', 'k', 'm', 'g', 't'];

/** Reads a number of bytes: plain, or with a unit (`10MB`, `1.5GiB`). @throws InvalidArgumentError */
export function byteCount(text: string): number {
  const [, digits = '', prefix = '', binary] = /^(\d{1,16}(?:\.\d{1,6})?) ?(?:([kmgt]?)(i?)b)?$/i.exec(text) ?? [];
  const isUnit = prefix !== '' || !binary;
  const bytes = Number(digits) * (binary ? 1024 : 1000) ** powers.indexOf(prefix.toLowerCase());
  if (digits !== '' && isUnit && Number.isSafeInteger(bytes)) return bytes;
  throw new InvalidArgumentError('It must be a whole number of bytes, or one with a unit: 10MB, 1.5GiB.');
}
