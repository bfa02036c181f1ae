import { type FormEvent, useId, useState } from 'react';
import type { SavedView, ViewContent } from '../../../../src/console/protocol/protocol.ts';
import { describe } from '../../api/describe.ts';
import { useSystem } from '../../api/system.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { lineOf } from '../cells/cell-text.ts';
import { gridWords } from '../words/index.ts';
import type { ViewState } from './view-state.ts';

const MAX_NAME = 200;

export interface SaveViewDialogProps {
  readonly state: ViewState;
  /** The view that this one was made from. */
  readonly present: SavedView | null;
  onSave(content: ViewContent): Promise<void>;
  onClose(): void;
}

/** Asks for the name of a view and who may see it. */
export function SaveViewDialog({ state, present, onSave, onClose }: SaveViewDialogProps) {
  const { roles } = useSystem().model.me;
  const [name, setName] = useState('');
  const [sharedWith, setSharedWith] = useState<readonly string[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [isSaving, setSaving] = useState(false);
  const form = useId();
  const message = useId();
  const words = gridWords.views;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (name.trim() === '') return setProblem(words.nameNeeded);
    setSaving(true);
    try {
      await onSave({ name: name.trim(), sharedWith, ...state });
    } catch (error) {
      setProblem(describe(error).text);
      setSaving(false);
    }
  };
  return (
    <Dialog
      title={present ? words.saveAs : words.saveTitle}
      onClose={onClose}
      footer={
        <>
          <button type="button" className="button" onClick={onClose}>
            {gridWords.cancel}
          </button>
          <button type="submit" form={form} className="button button-main" disabled={isSaving}>
            {words.submit}
          </button>
        </>
      }
    >
      <form id={form} onSubmit={submit} className="g-form">
        <label className="g-field">
          <span className="label">{words.name}</span>
          <input
            className="input"
            type="text"
            data-first
            dir="auto"
            autoComplete="off"
            maxLength={MAX_NAME}
            value={name}
            aria-invalid={problem !== null && name.trim() === ''}
            aria-describedby={problem === null ? undefined : message}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        {problem ? (
          <p id={message} role="alert" className="problem">
            {problem}
          </p>
        ) : null}
        {roles.length > 0 ? (
          <fieldset className="g-roles">
            <legend className="label">{words.sharing}</legend>
            <p className="hint">{sharedWith.length === 0 ? words.onlyMe : words.roles}</p>
            {roles.map((role) => (
              <label key={role} className="g-check-line">
                <input
                  type="checkbox"
                  className="checkbox"
                  checked={sharedWith.includes(role)}
                  onChange={(event) =>
                    setSharedWith(event.target.checked ? [...sharedWith, role] : sharedWith.filter((one) => one !== role))
                  }
                />
                <bdi>{lineOf(role)}</bdi>
              </label>
            ))}
          </fieldset>
        ) : null}
      </form>
    </Dialog>
  );
}
