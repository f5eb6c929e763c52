"""The benchmark maps, as text that `wayfield.Layout.from_text` reads.

They hold the walls of these sources, in this library's own notation:

- D4RL (Fu et al., 2020): ``d4rl/pointmaze/maze_model.py`` (LARGE_MAZE, MEDIUM_MAZE, SMALL_MAZE,
  U_MAZE, their _EVAL variants, OPEN) and ``d4rl/locomotion/maze_env.py`` (U_MAZE, BIG_MAZE,
  HARDEST_MAZE and their _EVAL variants), at github.com/Farama-Foundation/D4RL.
- Gymnasium-Robotics 1.4.2: ``gymnasium_robotics/envs/maze/maps.py`` (U_MAZE, OPEN, MEDIUM_MAZE,
  LARGE_MAZE; the _DIVERSE variants differ in markers only).
- OGBench 1.2.2 (Park et al., 2025): ``ogbench/locomaze/maze.py`` (arena, medium, large, giant,
  teleport).

Where two of them have a map of the same name, its walls agree.
"""

from __future__ import annotations

MAPS = {
    # D4RL, Gymnasium-Robotics; "-eval" and "small" in D4RL only.
    "umaze": """
        #####
        #...#
        ###.#
        #...#
        #####
        """,
    "umaze-eval": """
        #####
        #...#
        #.###
        #...#
        #####
        """,
    "small": """
        ######
        #....#
        #.##.#
        #....#
        ######
        """,
    "open": """
        #######
        #.....#
        #.....#
        #.....#
        #######
        """,
    # OGBench.
    "arena": """
        ########
        #......#
        #......#
        #......#
        #......#
        #......#
        #......#
        ########
        """,
    # D4RL, Gymnasium-Robotics, OGBench; "-eval" in D4RL only.
    "medium": """
        ########
        #..##..#
        #..#...#
        ##...###
        #..#...#
        #.#..#.#
        #...#..#
        ########
        """,
    "medium-eval": """
        ########
        #......#
        #.#.##.#
        #....#.#
        ###..###
        #......#
        #..##..#
        ########
        """,
    "large": """
        ############
        #....#.....#
        #.##.#.#.#.#
        #......#...#
        #.####.###.#
        #..#.#.....#
        ##.#.#.#.###
        #..#...#...#
        ############
        """,
    "large-eval": """
        ############
        #..#...#...#
        ##.###.#.#.#
        #..#.#.....#
        #.##.#..##.#
        #......#...#
        #.##.#.#.###
        #....#.....#
        ############
        """,
    # OGBench. Entering (4, 6) or (5, 1) sends the agent to (1, 7), (6, 1) or (6, 10), each with
    # probability 1/3. From (1, 7), which has no free neighbour, there is no way on.
    "teleport": """
        ############
        #.....#.#..#
        ##.#...#..##
        ##.###.....#
        #....#.#.#.#
        #.##.#.#.#.#
        #.##.#.#.#.#
        #....#...#.#
        ############
        4,6 -> 1,7 6,1 6,10
        5,1 -> 1,7 6,1 6,10
        """,
    # OGBench.
    "giant": """
        ################
        #.#......##....#
        #.#.##.#.#..##.#
        #...#..#...#...#
        #.###.######.#.#
        #...#...#....#.#
        ###.#.#..#.#.###
        #...#..#...#...#
        #.#.#.######.#.#
        #.###...#...##.#
        #.....#...#....#
        ################
        """,
}
