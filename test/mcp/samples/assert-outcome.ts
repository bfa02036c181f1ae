import assert from 'node:assert/strict';
import type { ToolAnswer } from '../../support/mcp.ts';
import type { Json } from '../../support/records.ts';
import type { Expected, Outcome } from './outcomes.ts';

/** The text after the refusal. It gives the reason, so that the caller learns what is missing. */
const reasons: Readonly<Partial<Record<Outcome, RegExp>>> = {
  p: /^\. \S+ takes mcp:\S+( and mcp:\S+)?; mcp:[a-z-]+ is not given: .* Next: Get-My-Access\.$/,
  r: /^\. \S+ is an advanced tool: it takes the role Admin\. Next: Get-My-Access\.$/,
  s: /^\. \S+ is an advanced tool: the row McpAdvancedTools of Config .* Next: Get-My-Access\.$/,
  c: /^\. Next: Get-My-Access\.$/,
  d: /^\. Next: Get-My-Access\.$/,
};

/** Returns the text of error 119. Reference: errors.md#codes. */
export const denialOf = (refusal: string, { className = '' }: Json): string => {
  const [action = '', named = ''] = refusal.split(' ');
  return `Permission denied for action ${action} on class ${named === 'Made' || named === 'Own' ? className : named}`;
};

/** Asserts the outcome of a call. @param args the arguments of the call */
export function assertOutcome(answer: ToolAnswer, { outcome, refusal }: Expected, args: Json): void {
  const { status, isError, text, json } = answer;
  assert.equal(status, 200, text);
  if (outcome === '+') {
    assert.ok(!isError, text);
    return;
  }
  if (outcome === 'h') {
    assert.deepEqual([isError, json?.code], [true, 103], text);
    return;
  }
  const denial = denialOf(refusal, args);
  if (outcome === 'i') {
    assert.deepEqual([isError, json.succeeded], [false, 0], text);
    for (const { error } of json.results) assert.deepEqual([error.code, error.error], [119, denial]);
    return;
  }
  assert.deepEqual([isError, json?.code, json?.error], [true, 119, denial], text);
  const start = `${denial} (code 119)`;
  assert.equal(text.slice(0, start.length), start);
  assert.match(text.slice(start.length), reasons[outcome] ?? /^$/);
}
