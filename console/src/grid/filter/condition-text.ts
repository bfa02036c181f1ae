import type { FieldModel } from '../../../../src/console/protocol/protocol.ts';
import type { Format } from '../../model/format.ts';
import { gridWords } from '../words/index.ts';
import { type Condition, type FieldCondition, inputOf, type Operator, type Values } from './condition.ts';
import { startOfDay } from './days.ts';

const MAX_NAMES = 2;

export interface ConditionTextContext {
  readonly format: Format;
  readonly timeZone: string;
  /** Returns the name of a record by its id. */
  nameOf(id: string): string;
}

export interface ConditionText {
  readonly label: string;
  readonly operator: string;
  readonly value: string;
}

/** Returns a condition in words, for its chip. @param label of its field */
export function conditionText(
  condition: Condition,
  field: FieldModel | undefined,
  label: string,
  context: ConditionTextContext,
): ConditionText {
  if (condition.kind === 'raw') return { label: gridWords.filter.advanced, operator: '', value: JSON.stringify(condition.where) };
  return {
    label,
    operator: operatorText(condition.operator, condition.values),
    value: field ? valueText(condition, field, context) : condition.values.join(', '),
  };
}

function operatorText(operator: Operator, values: Values): string {
  if (operator === 'lastDays') return gridWords.filter.lastDays(Number(values[0]));
  if (operator === 'nextDays') return gridWords.filter.nextDays(Number(values[0]));
  return gridWords.filter.operators[operator];
}

function valueText({ operator, values }: FieldCondition, field: FieldModel, context: ConditionTextContext): string {
  const { format, timeZone, nameOf } = context;
  switch (inputOf(operator, field.type)) {
    case 'none':
    case 'dayCount':
      return '';
    case 'number':
    case 'numbers':
      return values.map((value) => format.number(Number(value))).join(' – ');
    case 'day':
    case 'days':
      return values.map((day) => format.date(new Date(startOfDay(String(day), timeZone)))).join(' – ');
    case 'records': {
      const names = values.slice(0, MAX_NAMES).map((id) => nameOf(String(id)));
      const more = values.length > names.length ? ` ${gridWords.filter.moreNames(values.length - names.length)}` : '';
      return names.join(', ') + more;
    }
    default:
      return values.join(', ');
  }
}
