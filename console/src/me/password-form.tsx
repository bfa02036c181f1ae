import { type FormEvent, useId, useRef, useState } from 'react';
import { describe } from '../api/describe.ts';
import { ApiFailure } from '../api/failure.ts';
import { useSystem } from '../api/system.tsx';
import { changePassword } from '../api/writes.ts';
import { noteFirstPassword } from '../memory/first-password.ts';
import { announce } from '../ui/announce.tsx';
import { words } from '../words/index.ts';
import styles from './me.module.css';

/** Changes the user's own password. */
export function PasswordForm() {
  const { appId, model } = useSystem();
  const [problem, setProblem] = useState('');
  const [isDone, setDone] = useState(false);
  const [isShown, setShown] = useState(false);
  const isSent = useRef(false);
  const ids = useId();
  const texts = words.me;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isSent.current) return;
    const form = event.currentTarget;
    const typed = new FormData(form);
    const [old = '', next = ''] = ['old', 'next'].map((name) => String(typed.get(name) ?? ''));
    setDone(false);
    setProblem('');
    if (!old || !next) return setProblem(texts.passwordEmpty);
    isSent.current = true;
    try {
      await changePassword(appId, old, next);
      noteFirstPassword(appId, model.me.objectId, false);
      form.reset();
      setDone(true);
      announce(texts.passwordChanged);
    } catch (error) {
      const isWrong = error instanceof ApiFailure && error.code === 101;
      const { text, detail } = describe(error);
      setProblem(isWrong ? texts.passwordWrong : [text, detail].filter(Boolean).join(' '));
    } finally {
      isSent.current = false;
    }
  };
  const field = (name: string, label: string, autoComplete: string) => (
    <div className={styles.field}>
      <label className="label" htmlFor={`${ids}-${name}`}>
        {label}
      </label>
      <input
        className="input"
        id={`${ids}-${name}`}
        name={name}
        type={isShown ? 'text' : 'password'}
        dir="ltr"
        autoComplete={autoComplete}
      />
    </div>
  );
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      <p className="hint">{texts.passwordHint}</p>
      <input type="text" name="username" autoComplete="username" value={model.me.username} readOnly hidden />
      {field('old', texts.oldPassword, 'current-password')}
      {field('next', texts.newPassword, 'new-password')}
      <label className={styles.show}>
        <input type="checkbox" className="checkbox" checked={isShown} onChange={(event) => setShown(event.target.checked)} />
        {texts.showTyped}
      </label>
      <div role="alert">{problem && <p className="problem">{problem}</p>}</div>
      {isDone && <p className={styles.done}>{texts.passwordChanged}</p>}
      <button type="submit" className="button">
        {texts.changePassword}
      </button>
    </form>
  );
}
