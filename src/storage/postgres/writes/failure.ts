import { ServiceError, serviceError } from '../../../errors/fail.ts';
import { uniqueFieldsOf } from '../../../schema/system-tables.ts';
import type { Mutation } from '../../port.ts';
import { causeOf, isOutOfRange, isTooLarge, violatedConstraint } from '../connection/errors.ts';
import { fieldOfConstraint } from '../schema/ddl.ts';

/**
 * What the client is told where the database refuses a step: duplicateValue or the error of the unique field whose value another record has
 * (schema/system-tables.ts), badOperator for a sum that leaves the range of numbers, valueTooLarge. Other errors stay as they are.
 */
export function refusalOf(error: unknown, mutation: Mutation): unknown {
  const cause = causeOf(error);
  if (cause instanceof ServiceError) return cause;
  const constraint = violatedConstraint(cause);
  if (constraint !== undefined) {
    const field = fieldOfConstraint(mutation.table, constraint);
    return serviceError(uniqueFieldsOf(mutation.table.className).get(field?.name ?? '') ?? 'duplicateValue');
  }
  if (isOutOfRange(cause) && mutation.kind === 'update') return outOfRange(mutation);
  return isTooLarge(cause) ? serviceError('valueTooLarge') : cause;
}

function outOfRange({ assignments }: Extract<Mutation, { kind: 'update' }>): ServiceError {
  const names = assignments.filter(({ kind }) => kind === 'increment').map(({ field }) => field.name);
  return serviceError('badOperator', `the result of Increment on ${names.join(' or ')} is not a finite number`);
}
