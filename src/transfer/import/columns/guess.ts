import { isJsonObject, type JsonValue } from '../../../kernel/json.ts';
import type { Field } from '../../../schema/model.ts';
import { type DateOrder, inferType, isDateLike, readDateText } from '../../../values/index.ts';

/** Numbers as programs write them. A leading 0 or + indicates a phone number or an id. */
const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** Number of digits that a Number represents exactly. */
const MAX_DIGITS = 15;
const boolean = /^(?:true|false)$/i;
const isoDay = /^\d{4}-\d\d-\d\d/;

type Kind = 'Boolean' | 'Number' | 'Date' | 'Json';

const isOf: Readonly<Record<Exclude<Kind, 'Json'>, (cell: string, order: DateOrder | undefined) => boolean>> = {
  Boolean: (cell) => boolean.test(cell),
  Number: (cell) => number.test(cell) && cell.replace(/[eE].*$/, '').replace(/\D/g, '').length <= MAX_DIGITS,
  Date: (cell, order) => (isoDay.test(cell) || isDateLike(cell)) && readDateText(cell, order) !== null,
};

/** Derives the type of a new field: the type that all its cells have, or String if they differ. */
export class TypeGuess {
  readonly #order: DateOrder | undefined;
  #kind: Kind | 'String' | null = null;
  #json: Pick<Field, 'type' | 'targetClass'> | null = null;
  /** The first cell of an ambiguous date, with its row. */
  #ambiguous: { readonly row: number; readonly cell: string } | null = null;

  constructor(order: DateOrder | undefined) {
    this.#order = order;
  }

  take(cell: string, row: number): void {
    if (this.#kind === 'String') return;
    const kind = this.#kindOf(cell);
    if (this.#kind !== null && kind !== this.#kind) this.#kind = 'String';
    else this.#kind = kind;
    if (kind === 'Date' && this.#ambiguous === null && readDateText(cell, this.#order) === 'ambiguous')
      this.#ambiguous = { row, cell };
  }

  get ambiguous(): { readonly row: number; readonly cell: string } | null {
    return this.#kind === 'Date' ? this.#ambiguous : null;
  }

  get type(): Pick<Field, 'type' | 'targetClass'> {
    if (this.#kind === null || this.#kind === 'String') return { type: 'String' };
    if (this.#kind !== 'Json') return { type: this.#kind };
    return this.#json ?? { type: 'String' };
  }

  #kindOf(cell: string): Kind | 'String' {
    for (const kind of ['Boolean', 'Number', 'Date'] as const) if (isOf[kind](cell, this.#order)) return kind;
    const type = cell.startsWith('{') || cell.startsWith('[') ? typeOfJson(cell) : null;
    if (type === null) return 'String';
    this.#json ??= type;
    return this.#json.type === type.type && this.#json.targetClass === type.targetClass ? 'Json' : 'String';
  }
}

function typeOfJson(cell: string): Pick<Field, 'type' | 'targetClass'> | null {
  try {
    const value = JSON.parse(cell) as JsonValue;
    return isJsonObject(value) || Array.isArray(value) ? inferType(value) : null;
  } catch {
    return null;
  }
}
