import { type ItemOutcome, tally } from '../../crm/commands/items.ts';
import { isJsonObject, type JsonObject, type JsonValue, jsonBytes } from '../../kernel/json.ts';
import { describeError } from '../errors/describe.ts';
import { MAX_RESULT_BYTES } from './page.ts';

/** So many errors keep their texts where not all can. */
const MAX_ERROR_TEXTS = 100;
const SHORT_LENGTH = 150;
/** What is around the outcomes: how many there are, what was added. */
const FRAME_BYTES = 2_000;

/** One item's outcome, as in a batch (SPEC "Batch"), with advice. */
export type Outcome = { success: JsonValue } | { error: JsonObject };

/** Outcomes with their errors as an agent hears of them. */
export const describeOutcomes = (outcomes: readonly ItemOutcome[]): Outcome[] =>
  outcomes.map((outcome) => ('error' in outcome ? { error: { ...describeError(outcome.error) } } : outcome));

/** The outcomes of items, as a tool answers them. */
export function outcomesAnswer(outcomes: readonly Outcome[]): JsonObject {
  return { ...tally(outcomes), results: fittingOutcomes(outcomes) };
}

/**
 * The outcomes of items, as fully as an answer takes. What was written is told in any case: first errors lose their advice, then those
 * beyond the first hundred their texts, then successes all but what was done and the id.
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

/** Who repeats such an item may do it twice. */
const doubtOf = ({ inDoubt }: JsonObject): JsonObject => (inDoubt === true ? { inDoubt } : {});

function idAlone(outcome: Outcome, nth: number): Outcome {
  if ('error' in outcome) return withoutText(outcome, nth);
  const { objectId = null, action } = isJsonObject(outcome.success) ? outcome.success : {};
  return { success: { ...(action !== undefined && { action }), objectId } };
}
