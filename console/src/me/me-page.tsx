import { useId } from 'react';
import { useSystem } from '../api/system.tsx';
import { LanguageButton } from '../choices/language-button.tsx';
import { setSingleKeys, setTheme, type Theme, useSingleKeys, useTheme } from '../memory/preferences.ts';
import { ShortcutsList } from '../shell/shortcuts-list.tsx';
import { FirstPassword } from '../ui/first-password.tsx';
import { Page } from '../ui/page.tsx';
import { Ltr, Name } from '../ui/text.tsx';
import { words } from '../words/index.ts';
import styles from './me.module.css';
import { PasswordForm } from './password-form.tsx';

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** The user's own settings: profile, language, colours, password, keys. */
export function MePage() {
  const { me } = useSystem().model;
  const theme = useTheme();
  const hasSingleKeys = useSingleKeys();
  const keysId = useId();
  const texts = words.me;
  return (
    <Page title={texts.title}>
      <FirstPassword isLinked={false} />
      <Part title={texts.profile}>
        <dl className={styles.facts}>
          <dt>{texts.name}</dt>
          <dd>
            <Name>{me.name || '—'}</Name>
          </dd>
          <dt>{texts.username}</dt>
          <dd>
            <Ltr>{me.username}</Ltr>
          </dd>
          <dt>{texts.roles}</dt>
          <dd className={styles.roles}>
            {me.roles.length === 0 && texts.noRoles}
            {me.roles.map((role) => (
              <span key={role} className={styles.role}>
                <Name>{role}</Name>
              </span>
            ))}
          </dd>
        </dl>
      </Part>
      <Part title={texts.appearance}>
        <div className={styles.line}>
          <span>{texts.language}</span>
          <span className={styles.language}>
            <strong>{texts.thisLanguage}</strong>
            <LanguageButton />
          </span>
        </div>
        <fieldset className={styles.themes}>
          <legend>{words.shell.theme}</legend>
          {THEMES.map((name) => (
            <label key={name} className={styles.theme}>
              <input type="radio" name="theme" className="checkbox" checked={theme === name} onChange={() => setTheme(name)} />
              {words.shell.themes[name]}
            </label>
          ))}
        </fieldset>
      </Part>
      <Part title={texts.changePassword}>
        <PasswordForm />
      </Part>
      <Part title={texts.shortcuts}>
        <div className={styles.keys}>
          <input
            id={keysId}
            type="checkbox"
            className="checkbox"
            checked={hasSingleKeys}
            aria-describedby={`${keysId}-hint`}
            onChange={(event) => setSingleKeys(event.target.checked)}
          />
          <div>
            <label htmlFor={keysId}>{texts.singleKeys}</label>
            <p className="hint" id={`${keysId}-hint`}>
              {texts.singleKeysHint}
            </p>
          </div>
        </div>
        <ShortcutsList />
      </Part>
    </Page>
  );
}

function Part({ title, children }: { title: string; children: React.ReactNode }) {
  const id = useId();
  return (
    <section className={`card ${styles.part}`} aria-labelledby={id}>
      <h2 id={id} className={styles.title}>
        {title}
      </h2>
      <div className={styles.content}>{children}</div>
    </section>
  );
}
