import { fail } from '../../errors/fail.ts';
import { isJsonObject } from '../../kernel/json.ts';
import { parseIsoDate } from '../json/iso.ts';
import { checkWrapperKeys } from '../json/keys.ts';
import { mismatch, type ValueType } from './type.ts';

/** SPEC "Wire types": `{__type: Date, iso}`; stored as milliseconds. */
export const dateType: ValueType = {
  type: 'Date',
  storage: 'date',
  decode(value, field, className) {
    if (!isJsonObject(value) || value.__type !== 'Date') return mismatch(className, field, value);
    checkWrapperKeys(value);
    const instant = typeof value.iso === 'string' ? parseIsoDate(value.iso) : null;
    return instant ?? fail('notAType', 'Date');
  },
};
