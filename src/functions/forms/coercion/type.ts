import type { JsonValue } from '../../../kernel/json.ts';
import type { Field } from '../../../schema/model.ts';

/**
 * Where a value was sent (SPEC "Form-layer value coercion"): `lead` by `getlead`, `account` under `account_` (key inputs and defaults of a
 * contact count as such), `row` under `table_`.
 */
export type Place = 'lead' | 'account' | 'row';
export const places: readonly Place[] = ['lead', 'account', 'row'];

/** What a form sent for a field; never an empty text. */
export type SentValue = Exclude<JsonValue, null>;

/**
 * Makes what a form sent a value that the field takes.
 * @param className the table, for the text of the error
 * @returns the wire form; `null` for a value that is stored as null; `undefined` for one that is not written
 * @throws schemaMismatch (111), and what `ValueType.decode` throws for what is malformed inside
 */
export type Coercion = (value: SentValue, field: Field, className: string) => JsonValue | undefined;

/** Relations and ACLs have no form; files have one in `row` alone. */
export const passOver: Coercion = () => undefined;
