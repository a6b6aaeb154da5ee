import { atOnce } from "../error/callbacks.js";
import {
  NOTIFICATION_ADDED,
  NOTIFICATION_DELETED,
  NOTIFICATION_DELETED_UNSEEN,
  NOTIFICATION_INITIALLY_ADDED,
  NOTIFICATION_OVERFLOWED,
  NOTIFICATION_RESYNCED,
} from "../wire/numbers.js";
import type { Path } from "../object/path.js";
import type { Notification } from "./notification.js";

/**
 * Decides what a handler hears if it has a filter or a transform. These are functions of the user, so the core cannot call them: each answer
 * would cost a call there and back. By the rule of `Conversion::kind`, an object that comes to pass is an addition, and one that ceases to is a
 * deletion.
 *
 * Either function may throw at a version. The handler is not told of that version. It is told how the next sound version differs from the last
 * one that it was told. So `changesOf` is judged here as well: the core would hold back what only the functions can tell to be news.
 */
export class NotificationFilter<T> {
  readonly #filter: ((object: T) => boolean) | undefined;
  readonly #changesOf: readonly Path[] | undefined;
  /** By key, objects whose last version was not told: the notification whose old object was told last; undefined where none was. */
  readonly #missed = new Map<string, Notification<T> | undefined>();

  constructor(filter: ((object: T) => boolean) | undefined, changesOf: readonly Path[] | undefined) {
    this.#filter = filter;
    this.#changesOf = changesOf;
  }

  /** The notification as the handler hears it; undefined for one that does not concern it. Throws what the user's function throws. */
  judge(notification: Notification<T>): Notification<T> | undefined {
    const { kind } = notification;
    if (kind === NOTIFICATION_OVERFLOWED) return notification;
    const isAddition = kind === NOTIFICATION_ADDED || kind === NOTIFICATION_INITIALLY_ADDED;
    const missed = this.#missed.size > 0 && !isAddition && this.#missed.has(notification.key);
    const lastTold = () => (missed ? this.#missed.get(notification.key) : this.#ifOldWasTold(notification));
    if (kind === NOTIFICATION_DELETED || kind === NOTIFICATION_DELETED_UNSEEN) {
      const last = lastTold();
      if (missed) this.#missed.delete(notification.key);
      // Whatever its last state: who was told of the object is told of its end.
      return last && notification;
    }
    let passes: boolean;
    try {
      const { object } = notification;
      passes = this.#passes(object);
    } catch (error) {
      // What is only told once more has been told before.
      if (!missed && kind !== NOTIFICATION_RESYNCED)
        this.#missed.set(notification.key, isAddition ? undefined : this.#ifOldWasTold(notification));
      throw error;
    }
    if (isAddition || (kind === NOTIFICATION_RESYNCED && !missed)) return passes ? notification : undefined;
    const before = lastTold();
    if (missed) this.#missed.delete(notification.key);
    if (before === undefined) return passes ? notification.asAddition() : undefined;
    if (!passes) return before.asDeletion();
    const update = missed ? notification.asUpdateSince(before) : notification;
    if (this.#isNews(update)) return update;
    // A resync is told as always, though an update was missed that is no news.
    return kind === NOTIFICATION_RESYNCED ? notification : undefined;
  }

  /** By the rule of `Interest::wants`: a value has changed, or it is another object of that name. */
  #isNews(update: Notification<T>): boolean {
    const paths = this.#changesOf;
    return paths === undefined || paths.some((path) => update.changed(path)) || update.changed("metadata.uid");
  }

  #passes(object: T): boolean {
    const filter = this.#filter;
    return filter === undefined || atOnce("filter", filter, filter(object));
  }

  /** The notification itself if its old object was told. Never throws. */
  #ifOldWasTold(notification: Notification<T>): Notification<T> | undefined {
    try {
      return this.#passes(notification.oldObject as T) ? notification : undefined;
    } catch {
      // It did not throw when that object was new, so the filter has changed. Whoever hears of an object twice loses nothing.
      return notification;
    }
  }
}
