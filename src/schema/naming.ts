import { fail } from '../errors/fail.ts';
import { limits } from '../kernel/limits.ts';

const className = /^[A-Za-z_][A-Za-z0-9_]*$/;
const fieldName = /^[A-Za-z][A-Za-z0-9_]*$/;
const reserved: ReadonlySet<string> = new Set(['constructor', 'prototype', '__proto__', 'length', 'className']);

/** CONTRACT "Records": a letter or underscore first, then letters, digits, underscore. @throws invalidClassName */
export function checkClassName(name: string): void {
  if (name.length > limits.nameLength || !className.test(name) || name === '__proto__' || name === 'constructor')
    fail('invalidClassName', name.slice(0, limits.nameLength));
}

/** SPEC "Errors" 105: letters, digits, underscore. For names that a client brings; fields of the schema are looked up first. @throws invalidFieldName */
export function checkFieldName(name: string): void {
  if (name.length > limits.nameLength || !fieldName.test(name) || reserved.has(name))
    fail('invalidFieldName', name.slice(0, limits.nameLength));
}

/** Keys that no object of a request may have at any depth, since some reader would take them for the object's own machinery. */
export const forbiddenKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

/** The field that a dotted name speaks of: `a` in `a.b.c`. */
export function rootOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? name : name.slice(0, dot);
}
