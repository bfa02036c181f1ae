import type { ValueKind } from './model.ts';

/** The kind alone of something that has one. */
export function kindOf({ kind, targetClass }: ValueKind): ValueKind {
  return targetClass === undefined ? { kind } : { kind, targetClass };
}

/** Whether two values can be equal, as kinds go. */
export function sameKind(a: ValueKind, b: ValueKind): boolean {
  return a.kind === b.kind && a.targetClass === b.targetClass;
}
