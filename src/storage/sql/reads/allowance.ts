/** Values of a row, in the order of its columns. */
export type Row = readonly unknown[];

/** A read that has to be short, or a page that has to fit into memory, turned out to be larger. */
export class NotShort extends Error {}

/** What a row costs beside its texts: thousands of short ones take their time too. */
const ROW_COST = 512;

/** Characters that a read may still bring. One for all parts of a page, so that it bounds their sum. */
export class Allowance {
  #left: number;

  constructor(characters: number) {
    this.#left = characters;
  }

  get left(): number {
    return this.#left;
  }

  /** @throws NotShort where there are more */
  spend(characters: number): void {
    this.#left -= characters;
    if (this.#left < 0) throw new NotShort();
  }

  /** Spends a row. @throws NotShort where there are more */
  spendRow(row: Row): void {
    this.spend(ROW_COST + textOf(row));
  }
}

/** Characters of a row's texts. */
export function textOf(row: Row): number {
  let text = 0;
  for (const value of row) if (typeof value === 'string') text += value.length;
  return text;
}
