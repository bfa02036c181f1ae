import { words } from '../words/index.ts';
import styles from './shortcuts-list.module.css';

/** Keys by action; alternatives are separate lists. */
const SHORTCUTS: readonly [keyof typeof words.shortcuts, readonly (readonly string[])[]][] = [
  ['search', [['Ctrl', 'K'], ['/']]],
  ['create', [['N']]],
  ['save', [['Ctrl', 'S']]],
  ['help', [['?']]],
  ['arrows', [['↑'], ['↓'], ['←'], ['→']]],
  ['enter', [['Enter']]],
  ['edit', [['F2']]],
  ['escape', [['Esc']]],
];

/** The list of shortcuts. */
export function ShortcutsList() {
  return (
    <dl className={styles.list}>
      {SHORTCUTS.map(([name, ways]) => (
        <div key={name} className={styles.row}>
          <dt>{words.shortcuts[name]}</dt>
          <dd dir="ltr">
            {ways.map((keys) => (
              <span key={keys.join()} className={styles.way}>
                {keys.map((key) => (
                  <kbd key={key} className="kbd">
                    {key}
                  </kbd>
                ))}
              </span>
            ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}
