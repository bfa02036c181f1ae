import type { Field } from '../../../schema/model.ts';

/** The table that a name of a multi-select field ends in: `array_<purpose>_Pointer_<Table>` (SPEC "Wire types"). */
const targetInName = (name: string): string | undefined => /^array_.+_Pointer_(\w+)$/.exec(name)?.[1];

/** The table whose records an Array holds Pointers to, by its name. */
export const multiSelectTarget = ({ name, type }: Field): string | undefined =>
  type === 'Array' ? targetInName(name) : undefined;
