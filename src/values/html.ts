import { decodeText } from './string.ts';
import type { ValueType } from './type.ts';

/** SPEC "Wire types": a string of markup. It is stored as sent; whoever shows it has to clean it. */
export const htmlType: ValueType = { type: 'HTML/XML', storage: 'text', decode: decodeText };
