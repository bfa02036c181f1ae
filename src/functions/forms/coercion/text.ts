import { decodeText } from '../../../values/string.ts';
import type { Coercion } from './type.ts';

/** String and HTML/XML: a number as its text. */
export const text: Coercion = decodeText;
