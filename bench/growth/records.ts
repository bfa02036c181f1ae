/** The tables of three sizes: narrow records with an index over numbers, one over groups of a fixed size, and a Pointer at the same table. */
import { count } from '../support/report.ts';

/** Records of a group, whatever the size of the table. */
export const GROUP = 10_000;

/** A table of this workload. */
export interface SizedTable {
  readonly className: string;
  readonly records: number;
}

/** Returns the tables up to a size; a cap between two sizes is the largest. */
export function sizedTables(cap: number): SizedTable[] {
  const sizes = [10_000, 1_000_000, 10_000_000].filter((size) => size < cap);
  return [...sizes, Math.max(GROUP, cap)].map((records) => ({ className: `Growth${records}`, records }));
}

/** The body that declares a table. */
export const definitionOf = ({ className }: SizedTable) => ({
  className,
  fields: {
    Name: { type: 'String' },
    Group: { type: 'String' },
    Amount: { type: 'Number' },
    Parent: { type: 'Pointer', targetClass: className },
  },
  indexes: { byAmount: { Amount: 1 }, byGroup: { Group: 1 } },
});

const AMOUNTS = 1_000_003;
const ID_FACTOR = 2_654_435_761n;
const ID_MASK = 0xff_ffff_ffffn;

/** Returns the objectId of a stored record: ids of consecutive records are far from each other in the index. The factor is odd, so they differ. */
export const idOf = (record: number): string => ((BigInt(record) * ID_FACTOR) & ID_MASK).toString(16).padStart(10, '0');

/** Returns the body of a new record, which belongs to no group. */
export const newRecord = (seed: number) => ({ Name: `New ${seed}`, Group: 'new', Amount: ((seed * 40_503) % AMOUNTS) + 0.5 });

/** Number of groups of a table. */
export const groupsOf = ({ records }: SizedTable): number => Math.floor(records / GROUP);

/** Columns and values of stored records in SQL, over numbers `i`. @param hex writes a number as ten hexadecimal digits */
export function storedRecords(table: SizedTable, hex: (number: string) => string) {
  const remainder = (number: string, by: number) => `(${number}) % ${by}`;
  const id = (number: string) => hex(`((${number} * ${ID_FACTOR}) & ${ID_MASK})`);
  const values = {
    objectId: id('i'),
    createdAt: '1700000000000 + i * 100',
    updatedAt: '1700000000000 + i * 100',
    createdBy: "'master'",
    updatedBy: "'master'",
    Name: "'Customer ' || i || ' Levi-Cohen'",
    Group: `'Group ' || (${remainder('i', groupsOf(table))})`,
    Amount: `${remainder('i * 40503', AMOUNTS)} + 0.5`,
    // Each record of the first half is pointed at by two.
    Parent: id('(i / 2)'),
  };
  const columns = Object.keys(values).map((name) => `"${name}"`);
  return { columns: columns.join(', '), values: Object.values(values).join(', ') };
}

export const named = ({ records }: SizedTable): string => `${count(records)} records`;
