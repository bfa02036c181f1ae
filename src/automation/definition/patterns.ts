import type { Filter } from '../../query/model/filter.ts';
import { isLinear } from '../../query/regex/index.ts';
import { refuse } from './form.ts';

/**
 * Refuses patterns that need backtracking: with the right text, which anybody may send by a form, one takes for ever, and holds up the readers
 * of its system.
 * @throws invalidTrigger (107)
 */
export function refuseBacktracking(filter: Filter): void {
  switch (filter.kind) {
    case 'and':
    case 'or':
      filter.items.forEach(refuseBacktracking);
      break;
    case 'not':
      refuseBacktracking(filter.item);
      break;
    case 'regex':
      check(filter.regex);
      break;
    case 'hasAll':
      for (const operand of filter.operands) if (operand.kind === 'pattern') check(operand);
      break;
    case 'inQuery':
    case 'select':
      refuseBacktracking(filter.target.filter);
  }
}

function check({ pattern, options, literal }: { pattern: string; options: string; literal?: unknown }): void {
  if (literal === undefined && !isLinear(pattern, options))
    refuse('criteria has a pattern with lookaround or back references, which may take for ever');
}
