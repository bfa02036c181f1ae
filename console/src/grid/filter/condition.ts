import type { ConsoleFieldType, FieldModel } from '../../../../src/console/protocol/protocol.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { DAY_WORDS, type DayWord } from './days.ts';

/** The comparison of a condition. */
export type Operator =
  | 'is'
  | 'isNot'
  | 'contains'
  | 'notContains'
  | 'startsWith'
  | 'greater'
  | 'atLeast'
  | 'less'
  | 'atMost'
  | 'between'
  | 'on'
  | 'before'
  | 'after'
  | 'from'
  | 'daysBetween'
  | DayWord
  | 'yes'
  | 'no'
  | 'anyOf'
  | 'noneOf'
  | 'allOf'
  | 'me'
  | 'has'
  | 'empty'
  | 'notEmpty';

/** Texts, numbers, days (`YYYY-MM-DD`) or objectIds, as many as the operator takes. */
export type Values = readonly (string | number)[];

export interface FieldCondition {
  readonly kind: 'field';
  readonly field: string;
  readonly operator: Operator;
  readonly values: Values;
}

/** A part of a `where` that the builder cannot express: shown as JSON, and kept. */
export interface RawCondition {
  readonly kind: 'raw';
  readonly where: JsonObject;
}

export type Condition = FieldCondition | RawCondition;

export interface Filter {
  readonly match: 'all' | 'any';
  readonly conditions: readonly Condition[];
}

export const NO_FILTER: Filter = { match: 'all', conditions: [] };

/** The kind of value that an operator takes. */
export type Input = 'none' | 'text' | 'number' | 'numbers' | 'day' | 'days' | 'dayCount' | 'records';

const presence: readonly Operator[] = ['empty', 'notEmpty'];
const ofText: readonly Operator[] = ['contains', 'is', 'isNot', 'startsWith', 'notContains', ...presence];
const ofType: Readonly<Record<ConsoleFieldType, readonly Operator[]>> = {
  String: ofText,
  'HTML/XML': ofText,
  Number: ['is', 'isNot', 'greater', 'atLeast', 'less', 'atMost', 'between', ...presence],
  Boolean: ['yes', 'no', ...presence],
  Date: [...DAY_WORDS, 'on', 'before', 'after', 'from', 'daysBetween', ...presence],
  Pointer: ['anyOf', 'noneOf', ...presence],
  Relation: ['anyOf', 'noneOf'],
  Array: ['has', ...presence],
  Object: presence,
  File: presence,
  PrivateFile: presence,
  ACL: [],
};

/** Returns the operators of a field, the most common first; empty if it cannot be filtered by. */
export function operatorsOf(field: FieldModel): readonly Operator[] {
  if (field.type === 'Pointer' && field.targetClass === '_User') return ['me', ...ofType.Pointer];
  if (field.type === 'Array' && field.targetClass) return ['anyOf', 'allOf', 'noneOf', ...presence];
  return ofType[field.type];
}

export function inputOf(operator: Operator, type: ConsoleFieldType): Input {
  switch (operator) {
    case 'is':
    case 'isNot':
      return type === 'Number' ? 'number' : 'text';
    case 'contains':
    case 'notContains':
    case 'startsWith':
    case 'has':
      return 'text';
    case 'greater':
    case 'atLeast':
    case 'less':
    case 'atMost':
      return 'number';
    case 'between':
      return 'numbers';
    case 'on':
    case 'before':
    case 'after':
    case 'from':
      return 'day';
    case 'daysBetween':
      return 'days';
    case 'lastDays':
    case 'nextDays':
      return 'dayCount';
    case 'anyOf':
    case 'noneOf':
    case 'allOf':
      return 'records';
    default:
      return 'none';
  }
}

/** Returns whether the values are complete, so that the condition can be applied. */
export function isComplete(input: Input, values: Values): boolean {
  switch (input) {
    case 'none':
      return true;
    case 'text':
      return values.length === 1 && values[0] !== '';
    case 'number':
      return values.length === 1 && Number.isFinite(values[0]);
    case 'dayCount':
      return values.length === 1 && Number.isInteger(values[0]) && (values[0] as number) > 0 && (values[0] as number) <= 36_500;
    case 'numbers':
      return values.length === 2 && values.every(Number.isFinite);
    case 'day':
      return values.length === 1 && isDay(values[0]);
    case 'days':
      return values.length === 2 && values.every(isDay);
    case 'records':
      return values.length > 0;
  }
}

const isDay = (value: unknown) => typeof value === 'string' && /^\d{4}-\d{2}-\d{2}$/.test(value);
