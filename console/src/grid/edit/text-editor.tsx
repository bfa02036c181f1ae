import { type ChangeEvent, type ClipboardEvent, type KeyboardEvent, useId, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { JsonValue } from '../../../../src/kernel/json.ts';
import { isLong, isLtr } from '../../model/text.ts';
import { gridWords } from '../words/index.ts';
import type { CellEditorProps } from './cell-editor.tsx';
import type { EditStep } from './edit-state.ts';
import { parseNumber } from './parse-number.ts';
import { useOverCell } from './use-over-cell.ts';
import { Why } from './why.tsx';

/** Edits texts and numbers: on one line, or in a text area over the cell if the text is long. */
export function TextEditor({ edit, label, actions }: CellEditorProps) {
  const { field } = edit;
  const first = edit.value === null ? '' : String(edit.value);
  const [text, setText] = useState(first);
  const [why, setWhy] = useState<string | null>(null);
  const element = useRef<HTMLInputElement & HTMLTextAreaElement>(null);
  const isLeft = useRef(false);
  const message = useId();
  const [isWide, setWide] = useState(field.type === 'HTML/XML' || isLong(first));
  const caret = useRef(first.length);

  useOverCell(element, isWide, 'over');
  useLayoutEffect(() => {
    element.current?.focus({ preventScroll: true });
    if (isWide) element.current?.setSelectionRange(caret.current, caret.current);
    else element.current?.select();
  }, [isWide]);

  /** A single-line input would drop the line breaks of pasted text. */
  const onPaste = (event: ClipboardEvent<HTMLInputElement | HTMLTextAreaElement>) => {
    const pasted = event.clipboardData.getData('text/plain').replace(/\r\n?/g, '\n');
    if (isWide || field.type === 'Number' || !pasted.trim().includes('\n')) return;
    event.preventDefault();
    const { selectionStart, selectionEnd } = event.currentTarget;
    const before = text.slice(0, selectionStart ?? text.length) + pasted;
    caret.current = before.length;
    setText(before + text.slice(selectionEnd ?? text.length));
    // The input is replaced by a text area; its blur does not end the edit.
    isLeft.current = true;
    flushSync(() => setWide(true));
    isLeft.current = false;
  };

  const leave = (step: EditStep) => {
    if (isLeft.current) return;
    const value = valueOfText(text, field.type === 'Number');
    if (value === undefined) {
      if (step !== null) return setWhy(gridWords.edit.notNumber);
      isLeft.current = true;
      return actions.refuse(text, gridWords.edit.notNumber);
    }
    isLeft.current = true;
    actions.commit(value, edit.names, step);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    event.stopPropagation();
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') {
      isLeft.current = true;
      actions.cancel();
    } else if (event.key === 'Enter' && !(isWide && (event.shiftKey || event.altKey))) {
      event.preventDefault();
      leave(0);
    } else if (event.key === 'Tab') {
      event.preventDefault();
      leave(event.shiftKey ? -1 : 1);
    }
  };
  const shared = {
    ref: element,
    value: text,
    'aria-label': gridWords.edit.label(label),
    'aria-invalid': why !== null,
    'aria-describedby': why === null ? undefined : message,
    dir: field.type === 'Number' || isLtr(field, text) ? ('ltr' as const) : ('auto' as const),
    onChange: (event: ChangeEvent<HTMLInputElement | HTMLTextAreaElement>) => {
      setText(event.target.value);
      setWhy(null);
    },
    onKeyDown,
    onPaste,
    onBlur: () => leave(null),
  };
  return (
    <>
      {isWide ? (
        <textarea {...shared} popover="manual" className="g-editor g-editor-wide" rows={6} />
      ) : (
        <input {...shared} className="g-editor" type="text" inputMode={field.type === 'Number' ? 'decimal' : undefined} />
      )}
      {why === null ? null : <Why id={message} text={why} />}
    </>
  );
}

/** `undefined`: not a number. */
function valueOfText(text: string, isNumber: boolean): JsonValue | undefined {
  if (!isNumber) return text === '' ? null : text;
  if (text.trim() === '') return null;
  return parseNumber(text) ?? undefined;
}
