import { type ItemOutcome, tally } from '../../crm/commands/items.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonBytes } from '../../kernel/json.ts';
import { describeError } from '../errors/describe.ts';
import { MAX_RESULT_BYTES } from './page.ts';

/** Number of errors that keep their message if not all fit. */
const MAX_ERROR_TEXTS = 100;
const SHORT_LENGTH = 150;
/** Room for the fields around the outcomes. */
const FRAME_BYTES = 2_000;

/** Outcome of one item, as in a batch (batch.md#answers), with advice. */
export type Outcome = { success: JsonValue } | { error: JsonObject };

/** Describes the errors of outcomes for an agent. */
export const describeOutcomes = (outcomes: readonly ItemOutcome[]): Outcome[] =>
  outcomes.map((outcome) => ('error' in outcome ? { error: { ...describeError(outcome.error) } } : outcome));

/** Returns the outcomes of items as a tool's answer. */
export function outcomesAnswer(outcomes: readonly Outcome[]): JsonObject {
  return { ...tally(outcomes), results: fittingOutcomes(outcomes) };
}

/**
 * Shortens outcomes to fit into an answer. What was written is always reported: first errors lose their advice, then those after the first hundred
 * their messages, then successes everything except action and id.
 */
export function fittingOutcomes(outcomes: readonly Outcome[], bytes = MAX_RESULT_BYTES - FRAME_BYTES): Outcome[] {
  const forms: ((outcome: Outcome, nth: number) => Outcome)[] = [(outcome) => outcome, withoutAdvice, withoutText, idAlone];
  let shown: Outcome[] = [];
  for (const form of forms) {
    let errors = 0;
    shown = outcomes.map((outcome) => form(outcome, 'error' in outcome ? errors++ : 0));
    if (jsonBytes(shown) <= bytes) break;
  }
  return shown;
}

function withoutAdvice(outcome: Outcome): Outcome {
  if (!('error' in outcome)) return outcome;
  const { code = null, error = null } = outcome.error;
  return {
    error: {
      code,
      error: typeof error === 'string' ? error.slice(0, SHORT_LENGTH).toWellFormed() : error,
      ...doubtOf(outcome.error),
    },
  };
}

function withoutText(outcome: Outcome, nth: number): Outcome {
  if (nth < MAX_ERROR_TEXTS || !('error' in outcome)) return withoutAdvice(outcome);
  return { error: { code: outcome.error.code ?? null, ...doubtOf(outcome.error) } };
}

/** Kept always: repeating an item in doubt may execute it twice. */
const doubtOf = ({ inDoubt }: JsonObject): JsonObject => (inDoubt === true ? { inDoubt } : {});

function idAlone(outcome: Outcome, nth: number): Outcome {
  if ('error' in outcome) return withoutText(outcome, nth);
  const { objectId = null, action } = isJsonObject(outcome.success) ? outcome.success : {};
  return { success: { ...(action !== undefined && { action }), objectId } };
}
