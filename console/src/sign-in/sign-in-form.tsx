import { type FormEvent, useId, useRef, useState } from 'react';
import type { Me } from '../../../src/console/protocol/protocol.ts';
import { describeSignIn } from '../api/describe.ts';
import { signIn } from '../api/writes.ts';
import { noteFirstPassword } from '../memory/first-password.ts';
import { lastSystem, noteSystem } from '../memory/preferences.ts';
import { words } from '../words/index.ts';
import styles from './sign-in.module.css';

interface Props {
  readonly appId: string | null;
  readonly username?: string;
  onDone(me: Me, appId: string): void;
}

/**
 * User name and password, and the system's id if it is not known.
 * @param appId the system; `null`: the user enters it.
 * @param username the user who must sign in.
 */
export function SignInForm({ appId, username, onDone }: Props) {
  const [problem, setProblem] = useState('');
  const [isWorking, setWorking] = useState(false);
  const isSent = useRef(false);
  const ids = useId();
  const texts = words.signIn;
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isSent.current) return;
    const form = event.currentTarget;
    const typed = new FormData(form);
    const text = (name: string) => String(typed.get(name) ?? '');
    const system = appId ?? text('system').trim();
    const fail = (why: string, control: string) => {
      setProblem(why);
      form.querySelector<HTMLInputElement>(`[name=${control}]`)?.focus();
    };
    if (!system) return fail(texts.needSystem, 'system');
    if (!text('username').trim()) return fail(texts.needBoth, 'username');
    if (!text('password')) return fail(texts.needBoth, 'password');
    isSent.current = true;
    setWorking(true);
    setProblem('');
    try {
      const me = await signIn(system, text('username').trim(), text('password'));
      noteSystem(system);
      noteFirstPassword(system, me.objectId, me.hasFirstPassword === true);
      onDone(me, system);
    } catch (error) {
      fail(describeSignIn(error), 'password');
    } finally {
      isSent.current = false;
      setWorking(false);
    }
  };
  return (
    <form className={styles.form} onSubmit={submit} noValidate>
      {appId === null && (
        <div className={styles.field}>
          <label className="label" htmlFor={`${ids}-system`}>
            {texts.system}
          </label>
          <input
            className="input"
            id={`${ids}-system`}
            name="system"
            dir="ltr"
            defaultValue={lastSystem()}
            autoComplete="organization"
            autoCapitalize="none"
            spellCheck={false}
            aria-describedby={`${ids}-hint`}
          />
          <p className="hint" id={`${ids}-hint`}>
            {texts.systemHint}
          </p>
        </div>
      )}
      <div className={styles.field}>
        <label className="label" htmlFor={`${ids}-username`}>
          {texts.username}
        </label>
        <input
          className="input"
          id={`${ids}-username`}
          name="username"
          dir="ltr"
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          defaultValue={username}
          data-first={username ? undefined : true}
        />
      </div>
      <div className={styles.field}>
        <label className="label" htmlFor={`${ids}-password`}>
          {texts.password}
        </label>
        <input
          className="input"
          id={`${ids}-password`}
          name="password"
          type="password"
          dir="ltr"
          autoComplete="current-password"
          data-first={username ? true : undefined}
          aria-describedby={problem ? `${ids}-problem` : undefined}
        />
      </div>
      <div role="alert" className={styles.alert} id={`${ids}-problem`}>
        {problem && <p className={styles.problem}>{problem}</p>}
      </div>
      <button type="submit" className="button button-main" aria-busy={isWorking}>
        {texts.submit}
      </button>
      {isWorking && (
        <p className="visually-hidden" role="status">
          {texts.working}
        </p>
      )}
    </form>
  );
}
