# SPDX-License-Identifier: Apache-2.0
"""cermic_envs.torchrl by TorchRL's own check, and cermic_envs.benchmarl by two iterations of its algorithms."""

from __future__ import annotations

import tempfile
import unittest
from typing import Any

import numpy as np
from common import SHORT, TASKS, Sentences, needs

import cermic_envs


@needs("torchrl")
class TorchRL(Sentences):
    def test_specs_of_every_task(self) -> None:
        from cermic_envs.torchrl import CermicEnv
        from torchrl.envs.utils import check_env_specs

        for name in TASKS:
            variants: list[dict[str, Any]] = [{}, {"state": True}]
            if name.startswith("meltingpot/"):
                variants.append({"pixels": False})
            if name.startswith("vmas/"):
                variants.append({"discrete": "product9"})
            for options in variants:
                with self.subTest(f"{name} {options}"):
                    env = CermicEnv(name, 3, **SHORT.get(name, {}), **options)
                    check_env_specs(env, seed=1, break_when_any_done="both")
                    env.rollout(20, break_when_any_done=False)  # across the ends of episodes
                    env.close()

    def test_rollout_shows_what_numpy_shows(self) -> None:
        import torch
        from cermic_envs.torchrl import CermicEnv

        for name in ("vmas/simple_adversary", "smac/zerg_5_vs_5", "meltingpot/clean_up", "explore/two_step"):
            torch.manual_seed(0)
            env = CermicEnv(name, 3, seed=4, **SHORT.get(name, {}))
            played = env.rollout(20, break_when_any_done=False)
            plain = cermic_envs.make(name, 3, seed=4, pixels=name.startswith("melting"), **SHORT.get(name, {}))
            step = plain.reset()
            for t in range(20):
                actions = np.zeros(plain.spec.action_shape, plain.spec.action_dtype)
                for group in plain.spec.groups:
                    actions[:, group.columns()] = played[:, t][group.name, "action"].numpy()
                step = plain.step(actions)
                ended = step.terminated | step.truncated
                for group in plain.spec.groups:
                    at = (slice(None), group.columns())
                    after = played[:, t]["next", group.name]
                    observation = after["observation"]
                    if step.pixels is not None:
                        np.testing.assert_array_equal(observation["rgb"].numpy(), step.pixels[at])
                        observation = observation["vector"]
                    np.testing.assert_array_equal(observation.numpy(), step.obs[at][..., : group.obs])
                    np.testing.assert_array_equal(after["reward"][..., 0].numpy(), step.reward[at])
                np.testing.assert_array_equal(played[:, t]["next", "done"][:, 0].numpy(), ended)
                plain.reset(ended)

    def test_tensors_are_the_memory_of_the_library(self) -> None:
        from cermic_envs.torchrl import CermicEnv

        env = CermicEnv("vmas/balance", 3)
        first = env.reset()
        address = first["agents", "observation"].data_ptr()
        self.assertEqual(address, env._last.obs.__array_interface__["data"][0])
        self.assertNotEqual(env.rand_step(first)["next", "agents", "observation"].data_ptr(), address)

    def test_mistakes(self) -> None:
        import torch
        from cermic_envs.torchrl import CermicEnv

        self.refused(ValueError, "CPU", lambda: CermicEnv("vmas/balance", device="cuda"))
        env = CermicEnv("vmas/balance", 2)
        shown = env.reset()
        for kind, part, action in (
            (ValueError, "finite", torch.full((2, 4, 2), float("nan"))),
            (TypeError, "dtype", torch.zeros((2, 4, 2), dtype=torch.int64)),
            (ValueError, "shape", torch.zeros((2, 4, 3))),
            (ValueError, "meta", torch.zeros((2, 4, 2), device="meta")),
        ):
            self.refused(kind, part, lambda a=action: env._step({("agents", "action"): a}))
        env.close()
        self.refused(RuntimeError, "closed", lambda: env._step({("agents", "action"): torch.zeros((2, 4, 2))}))
        del shown


@needs("benchmarl")
class BenchMARL(unittest.TestCase):
    def test_every_task_is_there(self) -> None:
        from cermic_envs.benchmarl import CermicTask, task_name

        self.assertEqual(sorted(task_name(member.name) for member in CermicTask), TASKS)

    def test_algorithms_train_on_every_kind_of_task(self) -> None:
        import torch
        from benchmarl.algorithms import MappoConfig, QmixConfig
        from benchmarl.experiment import Experiment, ExperimentConfig
        from benchmarl.models.mlp import MlpConfig
        from cermic_envs.benchmarl import CermicTask

        model = MlpConfig(num_cells=[16], layer_class=torch.nn.Linear, activation_class=torch.nn.Tanh)
        for task, settings, algorithm in (
            (CermicTask.BALANCE, {"reward": "dense"}, MappoConfig),  # continuous
            (CermicTask.BALANCE, {"reward": "dense"}, QmixConfig),  # discrete
            (CermicTask.SIMPLE_ADVERSARY, None, MappoConfig),  # two groups
            (CermicTask.PROTOSS_5_VS_5, {"max_steps": 20}, MappoConfig),  # masks and a state
            (CermicTask.ZERG_5_VS_5, {"max_steps": 20}, QmixConfig),
            (CermicTask.LOCK, None, MappoConfig),
        ):
            with self.subTest(f"{task.name} {algorithm.__name__}"), tempfile.TemporaryDirectory() as folder:
                c = ExperimentConfig.get_from_yaml()
                c.sampling_device = c.train_device = c.buffer_device = "cpu"
                c.max_n_iters, c.max_n_frames, c.loggers, c.create_json, c.save_folder = 2, None, [], False, folder
                c.on_policy_collected_frames_per_batch = c.off_policy_collected_frames_per_batch = 60
                c.on_policy_n_envs_per_worker = c.off_policy_n_envs_per_worker = 3
                c.on_policy_n_minibatch_iters, c.on_policy_minibatch_size = 1, 60
                c.off_policy_n_optimizer_steps, c.off_policy_train_batch_size, c.off_policy_memory_size = 1, 16, 1000
                c.evaluation, c.evaluation_interval, c.evaluation_episodes, c.render = True, 60, 3, False
                experiment = Experiment(
                    task=task.get_task(config=settings), algorithm_config=algorithm.get_from_yaml(), model_config=model,
                    critic_model_config=model, seed=0, config=c,
                )  # fmt: skip
                experiment.run()
                self.assertEqual(experiment.total_frames, 120)


if __name__ == "__main__":
    unittest.main()
