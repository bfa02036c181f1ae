import { useState } from 'react';
import type { Conflict, FieldModel, TableModel } from '../../../src/console/protocol/protocol.ts';
import type { JsonValue } from '../../../src/kernel/json.ts';
import { useSystem } from '../api/system.tsx';
import { ValueView } from '../fields/value-view.tsx';
import { clashesOf } from '../memory/draft.ts';
import { isLong, shortened } from '../model/text.ts';
import { Dialog } from '../ui/dialog.tsx';
import { words } from '../words/index.ts';
import styles from './conflict.module.css';
import type { Editor } from './use-editor.ts';

type Choice = 'mine' | 'theirs';

/** Shown when two users changed the same fields: before, mine, theirs, and the choice. With a single field, the choice closes the dialog. */
export function ConflictDialog({ table, editor, conflict }: { table: TableModel; editor: Editor; conflict: Conflict }) {
  const { field, fieldLabelOf, format } = useSystem();
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(() => new Map());
  const clashes = clashesOf(editor.draft, conflict);
  const texts = words.conflict;
  const choose = (name: string, choice: Choice) => {
    const next = new Map(choices).set(name, choice);
    setChoices(next);
    if (clashes.length === 1) editor.resolve(next);
  };
  const at = new Date(conflict.at);
  const intro = texts.intro(shortened(conflict.by ?? texts.someone, 80), Number.isNaN(at.getTime()) ? '' : format.ago(at));
  const value = (of: FieldModel | undefined, label: string, content: JsonValue) => (
    <div className={styles.version}>
      <dt className="label">{label}</dt>
      {/* Focusable, so that keys scroll a long text. */}
      <dd tabIndex={isLong(typeof content === 'string' ? content : JSON.stringify(content)) ? 0 : undefined}>
        {of ? <ValueView field={of} value={content} names={conflict.names} maxLength={2000} /> : JSON.stringify(content)}
      </dd>
    </div>
  );
  return (
    <Dialog
      title={texts.title}
      isWide
      onClose={editor.leaveConflict}
      footer={
        clashes.length > 1 && (
          <button
            type="button"
            className="button button-main"
            disabled={choices.size < clashes.length}
            onClick={() => editor.resolve(choices)}
          >
            {texts.goOn}
          </button>
        )
      }
    >
      <p className={styles.intro}>{intro}</p>
      {clashes.map((clash) => {
        const of = field(table.name, clash.field);
        return (
          <section key={clash.field} className={styles.clash} aria-label={fieldLabelOf(table.name, clash.field)}>
            <h3 className={styles.name}>
              <bdi>{fieldLabelOf(table.name, clash.field)}</bdi>
            </h3>
            <dl className={styles.versions}>
              {value(of, texts.before, clash.before)}
              {value(of, texts.mine, clash.mine)}
              {value(of, texts.theirs, clash.theirs)}
            </dl>
            <div className={styles.choices}>
              <ChoiceButton choice="mine" chosen={choices.get(clash.field)} onChoose={() => choose(clash.field, 'mine')} />
              <ChoiceButton choice="theirs" chosen={choices.get(clash.field)} onChoose={() => choose(clash.field, 'theirs')} />
            </div>
          </section>
        );
      })}
    </Dialog>
  );
}

function ChoiceButton({ choice, chosen, onChoose }: { choice: Choice; chosen: Choice | undefined; onChoose: () => void }) {
  return (
    <button
      type="button"
      className={chosen === choice ? 'button button-main' : 'button'}
      aria-pressed={chosen === choice}
      onClick={onChoose}
    >
      {choice === 'mine' ? words.conflict.keepMine : words.conflict.keepTheirs}
    </button>
  );
}
